enum Golden { static let calculator = "" }
